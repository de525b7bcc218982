package wire

import "bytes"

// AppendMember returns a JSON object with one more member, a string, as its last. All
// else stays as it is, byte for byte. It is the member that counts if the object has others of
// that name: of equal names the last one does. The result shares no memory with object, unless that is
// not an object and is returned as it is. It is trusted to be valid JSON.
func AppendMember(object []byte, name, value string) []byte {
	end := bytes.LastIndexByte(object, '}')
	if end < 0 {
		return object
	}
	b := make([]byte, 0, len(object)+len(name)+len(value)+6)
	b = append(b, object[:end]...)
	if last := bytes.TrimRight(b, " \t\r\n"); len(last) > 0 && last[len(last)-1] != '{' {
		b = append(b, ',')
	}
	b = append(appendString(b, name), ':')
	b = appendString(b, value)
	return append(b, object[end:]...)
}
