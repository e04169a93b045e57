"""The kinds of Dynamo, API version nvidia.com/v1beta1. Class names end in V1beta1, because they name the definitions of the table."""
