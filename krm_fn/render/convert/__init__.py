"""Conversions from one form of a Dynamo resource to another."""
