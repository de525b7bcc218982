package hub

import (
	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
)

// formLine builds the answer to a form.
func formLine(ask *wire.ControlRequest, in api.Answer) ([]byte, error) {
	request, ok := ask.Request.(*wire.ElicitationRequest)
	if !ok {
		return nil, record.Unfit("the question is not a form")
	}
	action := wire.ElicitationAction(in.Decision)
	switch action {
	case wire.ElicitationActionAccept:
		if err := wire.CheckForm(request, in.Content); err != nil {
			return nil, record.Unfit("content: %v", err)
		}
	case wire.ElicitationActionDecline, wire.ElicitationActionCancel:
	default:
		return nil, record.Unfit("decision: expected accept, decline or cancel for a form, got %q", in.Decision)
	}
	return wire.NewAnswer(ask.RequestID, &wire.ElicitationAnswer{Action: action, Content: in.Content})
}
