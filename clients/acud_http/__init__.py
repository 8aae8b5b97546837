"""The HTTP server under the dashboard, the REST gateway, the endpoints and MCP over HTTP: listener, filter, errors."""
