// Package client is a client of a Switchboard server's HTTP interface, /v1.
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
// On the machine of the server, use its Unix socket: the server knows by itself
// who you are. Elsewhere, and where there are no such sockets, use its address
// and a token.
//
// Every operation of the interface is a method. [Client.Follow] and [Client.Watch]
// give the events of one session and of all, and connect again by themselves.
// [Client.Open] makes a session feel like one of your own: it sends, receives, and
// has questions answered by a function. [Discover] finds servers on this machine.
//
// What the server refuses comes back as an *[api.Error].
package client
