// Package netproxy is the proxy between the network of a sandbox and that of the
// machine: HTTP CONNECT, plain HTTP and SOCKS5 on one port.
//
// # Hosts
//
// A host is an IP address as [net/netip] reads it, or a name. Names are compared
// byte for byte without regard to the case of ASCII letters and to one trailing
// dot; they are neither converted to nor from punycode, and a name with other
// characters than letters, digits, "-", "_" and "." is refused. So is a name
// whose last label is a number, since some resolvers read 0x7f.1 or 2130706433
// as an address.
//
// A pattern is a name, an address, *.name for all names below one, or * for every
// host, each with an optional port (localhost:3000, [::1]:3000). A host that a
// pattern of [Config].DenyHosts matches is refused. One that a pattern of
// [Config].AllowHosts matches is allowed, and any other is decided by
// [Config].Decide. Nothing is looked up before that: a lookup already tells a
// name to the outside.
//
// # Addresses
//
// A name is resolved once, and the connection is made to an address that was
// found then. What a name resolves to is checked again:
//
//   - An address that DenyHosts names is not used.
//   - This machine itself (loopback, unspecified addresses, and those of its own
//     interfaces) is refused, also as a literal address, and is never asked
//     about: the hub and other services that trust the machine listen there. Only
//     a pattern of AllowHosts that names localhost, the address, or a host with
//     its port allows it.
//   - Link-local and multicast addresses, among them 169.254.169.254, where
//     clouds give out credentials, need a pattern with the address itself. They
//     are not asked about either.
//   - A private address behind a name that AllowHosts does not match is decided
//     like a host of its own.
//
// # Limits
//
// What is sent through a connection is not inspected. A server that answers for
// several names (domain fronting), or passes on what it is sent, leads further
// than the name by which it was allowed. UDP is not carried.
package netproxy
