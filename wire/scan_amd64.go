package wire

// scanBlock returns where in a block there are quotes, backslashes, opening and closing
// brackets. Every amd64 has what it needs.
//
//go:noescape
func scanBlock(block *[blockSize]byte) (quoted, slashes, opening, closing uint64)
