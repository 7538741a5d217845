package connection

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"replan/mcpclient/incoming"
	"replan/mcpclient/result"
)

// tap observes the answers on a transport. It keeps the newest tool list as
// sent, makes the content of results readable, and distinguishes errors that a
// server returned from all others.
type tap struct {
	mu   sync.Mutex
	list json.RawMessage
}

func (t *tap) seen(method string, response *transport.JSONRPCResponse, err error) (*transport.JSONRPCResponse, error) {
	if err != nil || response == nil {
		return response, err
	}
	switch {
	case method == string(mcp.MethodToolsList) && response.Error == nil:
		t.mu.Lock()
		t.list = bytes.Clone(response.Result)
		t.mu.Unlock()
	case method == string(mcp.MethodToolsCall) && response.Error != nil:
		return nil, answeredBy(response.Error)
	case method == string(mcp.MethodToolsCall) && wantsOtherInput(response.Result):
		return nil, &AnsweredError{code: mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, message: "the server asks in the middle of the call for something that replan cannot give"}
	case method == string(mcp.MethodToolsCall):
		rewritten := *response
		rewritten.Result = result.Readable(response.Result)
		return &rewritten, nil
	}
	return response, nil
}

// wantsOtherInput reports whether a result asks for something other than an answer of
// the user, in the newer protocol. The call then has not been carried out.
func wantsOtherInput(result json.RawMessage) bool {
	var r struct {
		Type     mcp.ResultType             `json:"resultType"`
		Requests map[string]json.RawMessage `json:"inputRequests"` // none: the server asks to come again later
	}
	return bytes.Contains(result, []byte(mcp.ResultTypeInputRequired)) && json.Unmarshal(result, &r) == nil &&
		r.Type == mcp.ResultTypeInputRequired && !incoming.Answerable(r.Requests)
}

func (t *tap) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = nil
}

func (t *tap) page() (toolPage, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var page toolPage
	err := json.Unmarshal(t.list, &page)
	return page, err == nil && t.list != nil
}
