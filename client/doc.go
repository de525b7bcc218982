// Package client is a Go client for the HTTP API of a Switchboard hub, /v1.
//
//	c, err := client.New(&client.Options{Socket: "/run/user/1000/switchboard/hub.sock"})
//	if err != nil {
//		return err
//	}
//	defer c.Close()
//	created, err := c.Create(ctx, api.CreateSession{Dir: "/home/me/project", Prompt: "Fix the tests"})
//	if err != nil {
//		return err
//	}
//	for frame, err := range c.Follow(ctx, created.ID, nil) {
//		if err != nil {
//			return err
//		}
//		if frame.Type == api.FrameEvent {
//			fmt.Println(frame.Event.Kind)
//		}
//	}
//
// On the hub's machine, use its Unix socket: the hub verifies your user. Elsewhere,
// or if Unix sockets are not available, use its address and a token.
//
// Every operation of the API is a method. [Client.Follow] and [Client.Watch] yield
// the events of one session and of all sessions, and reconnect automatically.
// [Client.Open] lets you use a session like one of your own: it sends, receives, and
// passes questions to a callback. [Discover] finds hubs on this machine.
//
// Errors from the hub are of type *[api.Error].
package client
