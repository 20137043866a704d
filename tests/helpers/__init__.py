"""What several tests share: logs, servers, browsers, tables and functions whose importances are known."""
