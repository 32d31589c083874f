"""The cases, a file for each part of the protocol."""
