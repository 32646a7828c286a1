"""Makes the site: Markdown pages and the API reference, in one frame."""
