package oauth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"replan/internal/untrusted"
)

const (
	protocolVersion = mcp.LATEST_PROTOCOL_VERSION
	requestTimeout  = 30 * time.Second // of a request to an authorization server
	maxReply        = 1 << 20          // bytes
	maxWords        = 300              // characters of an error in the words of a server
)

// client is this program as an authorization server knows it.
type client struct {
	ID     string `json:"client_id"`
	Secret string `json:"client_secret,omitempty"`
	Method string `json:"token_endpoint_auth_method,omitempty"` // how it authenticates
}

// Ways in which a client authenticates (RFC 7591, section 2).
const (
	methodNone  = "none"
	methodBasic = "client_secret_basic"
	methodPost  = "client_secret_post"
)

// settled returns the client with its way to authenticate, which the server supports.
func (c client) settled(supported []string) client {
	switch {
	case c.Secret == "":
		c.Method = methodNone
	case c.Method == methodBasic || c.Method == methodPost:
	case slices.Contains(supported, methodPost):
		c.Method = methodPost
	default:
		c.Method = methodBasic // of servers that name none (RFC 8414, section 2)
	}
	return c
}

// refusal is an error in the words of an authorization server (RFC 6749, section 5.2).
type refusal struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

// Error returns the words of the server, without control characters.
func (r *refusal) Error() string {
	text := r.Code
	if r.Description != "" {
		text = r.Description + " (" + r.Code + ")"
	}
	return untrusted.Line(shortened(text))
}

// ends reports whether a refused refresh means that the login has ended.
func (r *refusal) ends() bool {
	return slices.Contains([]string{"invalid_grant", "invalid_client", "unauthorized_client", "invalid_scope", "invalid_target"}, r.Code)
}

// post sends a form to an endpoint with the client's own credentials, and returns the
// reply. No error holds anything that was sent.
func (c client) post(ctx context.Context, h *http.Client, endpoint string, form url.Values) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if err := safe(endpoint); err != nil {
		return nil, err
	}
	if c.Method != methodBasic {
		form.Set("client_id", c.ID)
	}
	if c.Method == methodPost {
		form.Set("client_secret", c.Secret)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	if c.Method == methodBasic {
		r.SetBasicAuth(url.QueryEscape(c.ID), url.QueryEscape(c.Secret))
	}
	response, err := h.Do(r)
	if err != nil {
		return nil, plain(err)
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(io.LimitReader(response.Body, maxReply))
	if err != nil {
		return nil, plain(err)
	}
	var refused refusal
	// Some servers report errors with status 200.
	if json.Unmarshal(body, &refused) == nil && refused.Code != "" {
		secrets := []string{c.Secret, form.Get("code"), form.Get("code_verifier"), form.Get("refresh_token"), form.Get("token")}
		refused.Code, refused.Description = without(refused.Code, secrets), without(refused.Description, secrets)
		return nil, &refused
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return nil, fmt.Errorf("the authorization server answered %s", response.Status)
	}
	return body, nil
}

// tokens requests tokens. now is the time from which their life counts.
func (c client) tokens(ctx context.Context, h *http.Client, endpoint string, form url.Values, now time.Time) (transport.Token, error) {
	body, err := c.post(ctx, h, endpoint, form)
	if err != nil {
		return transport.Token{}, err
	}
	var t transport.Token
	if err := json.Unmarshal(body, &t); err != nil || t.AccessToken == "" {
		return transport.Token{}, errors.New("the authorization server's answer holds no token")
	}
	if !strings.EqualFold(cmp.Or(t.TokenType, "bearer"), "bearer") {
		return transport.Token{}, fmt.Errorf("the authorization server gives tokens of the type %s, which MCP does not use", inQuotes(t.TokenType))
	}
	if t.ExpiresIn > 0 {
		t.ExpiresAt = now.Add(time.Duration(t.ExpiresIn) * time.Second)
	}
	return t, nil
}

// without returns a text with secrets left out.
func without(text string, secrets []string) string {
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[left out]")
		}
	}
	return text
}

// plain removes the address, which may hold a secret, from an error.
func plain(err error) error {
	if address, ok := errors.AsType[*url.Error](err); ok {
		return address.Err
	}
	return err
}

func shortened(text string) string {
	if runes := []rune(text); len(runes) > maxWords {
		return string(runes[:maxWords]) + "…"
	}
	return text
}

// inQuotes quotes text from outside.
func inQuotes(text string) string { return `"` + untrusted.Line(shortened(text)) + `"` }
