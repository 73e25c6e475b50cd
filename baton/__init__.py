"""The baton driver: agents as headless turns, their post in mailboxes that any program can read. No terminal needed."""
