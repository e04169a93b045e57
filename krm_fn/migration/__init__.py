"""The way from the operator to Git, and from one release to the next: adopt, verify and upgrade."""
