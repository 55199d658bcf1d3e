"""What a release fills in: versions that agree, a chart that names its image by digest, krew's manifest with its checksums."""
