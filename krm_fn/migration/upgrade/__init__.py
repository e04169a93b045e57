"""Plans the upgrade of graphs to another release of Dynamo, step by step."""
