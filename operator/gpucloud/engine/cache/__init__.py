"""The custom resources as last seen, and indexes over them."""
