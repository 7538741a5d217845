package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/client/transport"
)

// authority is the authorization server of an MCP server.
type authority struct {
	resource string   // identifies the MCP server (RFC 8707)
	scopes   []string // that the MCP server names for a first login
	metadata metadata
	assumed  bool // the server describes nothing: the endpoints are the default ones
}

// metadata describes an authorization server (RFC 8414, OpenID Connect Discovery 1.0).
type metadata struct {
	transport.AuthServerMetadata
	IssParameter    bool `json:"authorization_response_iss_parameter_supported"` // RFC 9207
	ClientDocuments bool `json:"client_id_metadata_document_supported"`
}

// protectedResource describes an MCP server (RFC 9728).
type protectedResource struct {
	transport.OAuthProtectedResource
	Scopes []string `json:"scopes_supported"`
}

const maxMetadata = 1 << 20 // bytes

// errNoLogin reports that a server offers no login.
var errNoLogin = errors.New(`it does not say where to log in; if it needs a key, put it into "headers" in its configuration`)

// discover finds the authorization server of the MCP server at an address, which has
// answered with a challenge.
func discover(ctx context.Context, c *http.Client, server string, asked challenge) (authority, error) {
	own, err := canonical(server)
	if err != nil {
		return authority{}, err
	}
	places := append(wellKnown(own, "oauth-protected-resource"), origin(own)+"/.well-known/oauth-protected-resource")
	if advertised, err := url.Parse(asked.metadata); err == nil && sameOrigin(advertised, own) {
		places = []string{asked.metadata} // on another host it could describe anything (RFC 9728, section 7.3)
	}
	for _, place := range slices.Compact(places) {
		var r protectedResource
		found, err := get(ctx, c, place, &r)
		if err != nil {
			return authority{}, fmt.Errorf("reading what the server says about its login: %w", err)
		}
		if !found {
			continue
		}
		if !identifies(r.Resource, own) {
			return authority{}, fmt.Errorf("what the server says about its login is about another server, %s", inQuotes(r.Resource))
		}
		if len(r.AuthorizationServers) == 0 {
			return authority{}, errors.New("the server names no authorization server")
		}
		m, err := describe(ctx, c, r.AuthorizationServers[0], own)
		return authority{resource: r.Resource, scopes: r.Scopes, metadata: m}, err
	}
	// Before the revision of June 2025, the MCP server was its own authorization server.
	m, err := describe(ctx, c, origin(own), own)
	if errors.Is(err, errNoMetadata) {
		return authority{resource: own.String(), metadata: defaultEndpoints(own), assumed: true}, nil
	}
	return authority{resource: own.String(), metadata: m}, err
}

// defaultEndpoints returns where a server without metadata takes logins according to the
// revision of March 2025. Most servers without metadata take none, which shows when this
// program registers.
func defaultEndpoints(server *url.URL) metadata {
	at := origin(server)
	return metadata{AuthServerMetadata: transport.AuthServerMetadata{
		Issuer: at, AuthorizationEndpoint: at + "/authorize", TokenEndpoint: at + "/token", RegistrationEndpoint: at + "/register",
		CodeChallengeMethodsSupported: []string{"S256"},
	}}
}

// errNoMetadata reports that an authorization server does not describe itself.
var errNoMetadata = errors.New("the authorization server does not describe itself")

// describe reads the metadata of the authorization server of an MCP server and checks it.
func describe(ctx context.Context, c *http.Client, issuer string, of *url.URL) (metadata, error) {
	at, err := url.Parse(issuer)
	if err != nil || at.Host == "" {
		return metadata{}, fmt.Errorf("the address of the authorization server cannot be read: %s", inQuotes(issuer))
	}
	if err := safeFor(of, issuer); err != nil {
		return metadata{}, err
	}
	places := append(wellKnown(at, "oauth-authorization-server"), wellKnown(at, "openid-configuration")...)
	if path := strings.TrimSuffix(at.EscapedPath(), "/"); path != "" {
		places = append(places, origin(at)+path+"/.well-known/openid-configuration")
	}
	for _, place := range places {
		var m metadata
		found, err := get(ctx, c, place, &m)
		if err != nil {
			return metadata{}, fmt.Errorf("reading what the authorization server says about itself: %w", err)
		}
		if found {
			return m, m.check(issuer, of)
		}
	}
	return metadata{}, errNoMetadata
}

// check returns an error if the metadata must not be used for an MCP server. A slash at
// the end of the issuer makes no difference, since servers write it either way.
func (m metadata) check(issuer string, of *url.URL) error {
	if strings.TrimSuffix(m.Issuer, "/") != strings.TrimSuffix(issuer, "/") {
		return fmt.Errorf("the authorization server at %s says that it is %s", inQuotes(issuer), inQuotes(m.Issuer))
	}
	if !slices.Contains(m.CodeChallengeMethodsSupported, "S256") {
		return errors.New("the authorization server does not support PKCE with S256, which MCP requires")
	}
	if m.AuthorizationEndpoint == "" || m.TokenEndpoint == "" {
		return errors.New("the authorization server does not say where to log in or where to get tokens")
	}
	for _, endpoint := range []string{m.AuthorizationEndpoint, m.TokenEndpoint, m.RegistrationEndpoint, m.RevocationEndpoint} {
		if err := safeFor(of, endpoint); endpoint != "" && err != nil {
			return err
		}
	}
	return nil
}

// get reads a JSON document. It reports false if there is none.
func get(ctx context.Context, c *http.Client, address string, into any) (found bool, err error) {
	if err := safe(address); err != nil {
		return false, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false, err
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set(transport.HeaderKeyProtocolVersion, protocolVersion)
	response, err := c.Do(r)
	if err != nil {
		return false, plain(err)
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	switch {
	case response.StatusCode >= 500:
		return false, fmt.Errorf("the answer is %s", response.Status)
	case response.StatusCode != http.StatusOK:
		return false, nil
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxMetadata)).Decode(into); err != nil {
		// Some servers answer every address with a page.
		return false, nil //nolint:nilerr // it is no metadata
	}
	return true, nil
}

// canonical returns the address that identifies an MCP server.
func canonical(server string) (*url.URL, error) {
	at, err := url.Parse(server)
	if err != nil || at.Host == "" {
		return nil, errors.New("its url cannot be read")
	}
	if err := safe(origin(at)); err != nil {
		return nil, err
	}
	return &url.URL{Scheme: strings.ToLower(at.Scheme), Host: strings.ToLower(at.Host), Path: strings.TrimSuffix(at.Path, "/"), RawPath: strings.TrimSuffix(at.RawPath, "/")}, nil
}

// safe returns an error for an address to which no secret may be sent.
func safe(address string) error {
	at, err := url.Parse(address)
	if err != nil {
		return errors.New("an address of the login cannot be read")
	}
	if at.Host == "" || at.User != nil || at.Scheme != "https" && (at.Scheme != "http" || !isLoopback(at)) {
		return fmt.Errorf("a login needs https, which %s does not use", inQuotes(origin(at)))
	}
	return nil
}

// safeFor returns an error for an address that a login to an MCP server must not use.
// A server elsewhere must not make this program send requests to this machine.
func safeFor(server *url.URL, address string) error {
	if err := safe(address); err != nil {
		return err
	}
	if at, err := url.Parse(address); err == nil && isHere(at) && !isHere(server) {
		return fmt.Errorf("the server leads the login to this machine, %s, which it is not on", inQuotes(origin(at)))
	}
	return nil
}

// isLoopback reports whether an address never leaves this machine.
func isLoopback(at *url.URL) bool {
	ip := net.ParseIP(at.Hostname())
	return at.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// isHere reports whether an address may be one of this machine.
func isHere(at *url.URL) bool {
	name := strings.TrimSuffix(strings.ToLower(at.Hostname()), ".")
	ip := net.ParseIP(name)
	return isLoopback(at) || name == "localhost" || strings.HasSuffix(name, ".localhost") || ip != nil && ip.IsUnspecified()
}

// wellKnown returns the address of a document about an address: its name goes between
// host and path (RFC 8414 and RFC 9728, section 3.1).
func wellKnown(of *url.URL, name string) []string {
	return []string{origin(of) + "/.well-known/" + name + strings.TrimSuffix(of.EscapedPath(), "/")}
}

func origin(u *url.URL) string { return strings.ToLower(u.Scheme + "://" + u.Host) }

func sameOrigin(a, b *url.URL) bool { return origin(a) == origin(b) }

// identifies reports whether a resource identifier is that of an MCP server. That is its
// address, or the beginning of it, since servers often name their host alone.
func identifies(resource string, server *url.URL) bool {
	r, err := url.Parse(resource)
	if err != nil || !sameOrigin(r, server) || r.RawQuery != "" || r.Fragment != "" || r.User != nil {
		return false
	}
	path := strings.TrimSuffix(r.EscapedPath(), "/")
	return path == server.EscapedPath() || strings.HasPrefix(server.EscapedPath(), path+"/")
}
