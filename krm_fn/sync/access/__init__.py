"""How to reach one API server: its address and its certificate, and the credentials of the client."""
