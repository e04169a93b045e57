"""The tools that `krm-fn mcp` offers to agents. Only `server` imports the package `mcp`."""
