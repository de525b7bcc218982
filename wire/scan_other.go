//go:build !amd64

package wire

import "encoding/binary"

// scanBlock returns where in a block there are quotes, backslashes, opening and closing
// brackets.
func scanBlock(block *[blockSize]byte) (quoted, slashes, opening, closing uint64) {
	const braces = ones * 0x20 // the bit in which square brackets differ from them
	for i := 0; i < blockSize; i += 8 {
		w := binary.LittleEndian.Uint64(block[i:])
		quoted |= zeros(w^quotes) << i
		slashes |= zeros(w^backslashes) << i
		opening |= zeros((w|braces)^ones*'{') << i
		closing |= zeros((w|braces)^ones*'}') << i
	}
	return quoted, slashes, opening, closing
}

// zeros returns which of the eight bytes of a word are zero.
func zeros(w uint64) uint64 {
	const low = ^uint64(highBits)
	top := ^((w&low + low) | w | low) // the highest bit of each that is
	// Each bit gets to where its byte is counted from; none meets another on the way.
	return (top >> 7) * 0x0102040810204080 >> 56
}
