"""acud's MCP server, `acud mcp`: a thin translation between MCP tools and the requests of the control socket.

It keeps nothing: tools are a table (`table`), their schemas come from the request registry (`schema`), and a call is
one or two requests to the daemon.
"""
