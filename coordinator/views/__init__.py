"""Pages of the lake: parse, ask a query or an action, render. Nothing here talks to AWS."""
