package hub

// Tick looks at the sessions whose time has come, as is done every so often.
func (h *Hub) Tick() { h.tickLimits(h.now()) }
