package api

import "time"

// A Token is what the server knows of a token: enough to recognise it, not enough
// to use it.
type Token struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Scopes  []string  `json:"scopes" enum:"observe,prompt,approve,admin"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
	Used    time.Time `json:"used,omitzero" doc:"When it was last used, to the minute"`
	// Kind is admin for the one in the file admin.token, device for one that a
	// one-time code was exchanged for, else empty.
	Kind string `json:"kind,omitempty"`
	// Current says that the request was made with this token.
	Current bool `json:"current,omitempty" doc:"The request was made with this token"`
}

// CreateToken asks for a token.
type CreateToken struct {
	Name   string   `json:"name" minLength:"1" maxLength:"128"`
	Scopes []string `json:"scopes" minItems:"1" enum:"observe,prompt,approve,admin"`
	// TTL is for how many seconds it is good; 0 for ever.
	TTL int64 `json:"ttl,omitempty" minimum:"0"`
}

// CreatedToken is a new token with its text, which is shown once.
type CreatedToken struct {
	Token
	Text string `json:"text" doc:"The token itself; shown once"`
	// Cookie says that the text works only together with the cookie that came with it.
	Cookie bool `json:"cookie,omitempty" doc:"The text works only together with the cookie that this answer sets"`
}

// TokenList is all tokens.
type TokenList struct {
	Tokens []Token `json:"tokens"`
}

// CreateCode asks for a one-time code with which a browser gets a token.
type CreateCode struct {
	Name   string   `json:"name,omitempty" maxLength:"128" doc:"The token's name"`
	Scopes []string `json:"scopes,omitempty" enum:"observe,prompt,approve,admin" doc:"All if absent"`
}

// A Code is a one-time code.
type Code struct {
	Code    string    `json:"code" doc:"Works once, for five minutes"`
	URL     string    `json:"url" doc:"The console's address with the code in its fragment"`
	Expires time.Time `json:"expires"`
	// DeviceURL is the address for another device. It is empty if only the hub's own
	// machine can reach it; see OpenPhone.
	DeviceURL string `json:"device_url,omitempty" doc:"The same for another device; absent if only this machine reaches the hub"`
	// Fingerprint is that of the certificate at DeviceURL, if browsers do not know it.
	Fingerprint string   `json:"fingerprint,omitempty" doc:"SHA-256 fingerprint of the certificate that a browser warns about at device_url"`
	QR          []string `json:"qr,omitempty" doc:"device_url as a QR code: rows of modules, 1 for dark"`
}

// OpenPhone asks the hub to listen for phones and other devices in the network.
type OpenPhone struct {
	// Listen is the address to listen on, with or without a port. If empty, the only
	// private address of the hub's machine.
	Listen string `json:"listen,omitempty" maxLength:"64" doc:"Address to listen on, such as 192.168.1.20 or 192.168.1.20:8775; the only private one if absent"`
}

// A Phone says where phones and other devices in the network reach the hub.
type Phone struct {
	URL         string    `json:"url"`
	Fingerprint string    `json:"fingerprint,omitempty" doc:"SHA-256 fingerprint of the hub's own certificate, which browsers do not know; absent if another address is in use"`
	Expires     time.Time `json:"expires,omitzero" doc:"When the certificate expires; it is renewed before"`
	// Public says that the address is no private one: the internet may reach it.
	Public bool `json:"public,omitempty" doc:"The address is not a private one: the internet may reach it"`
}

// Login exchanges a one-time code for a token.
type Login struct {
	Code string `json:"code" maxLength:"128"`
	// Name is what the device calls itself.
	Name string `json:"name,omitempty" maxLength:"128"`
	// Cookie is for browsers: half of the token is kept in a cookie that no script can
	// read, and the token of an earlier login of this browser is replaced. Without TLS it
	// works on the hub's own machine only; elsewhere the whole token is in the answer.
	Cookie bool `json:"cookie,omitempty" doc:"For browsers: keep half of the token in a cookie, and replace this browser's earlier token"`
}

// RevokedTokens are the tokens that a request has ended.
type RevokedTokens struct {
	Revoked []string `json:"revoked" doc:"Their ids"`
}
