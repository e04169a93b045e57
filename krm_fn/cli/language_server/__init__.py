"""The server of `krm-fn lsp`: the protocol, open documents, and when they are judged. Only this folder imports pygls."""
