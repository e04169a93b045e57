"""One form of a Dynamo resource into another."""
