package sandbox

// Auto is the mode of a [Policy] that need not be enforced: [DenyOnly] where an
// enforcer works, else nothing. A session cannot ask for it; it is the hub's
// default.
const Auto Mode = "auto"
