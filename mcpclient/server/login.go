package server

import (
	"context"
	"errors"
	"fmt"

	"replan/mcpclient/connection"
	"replan/mcpclient/oauth"
)

// MayLogin returns why no login is possible to the server, nil if the user can.
func (s *Server) MayLogin() error {
	err := s.Startable()
	switch {
	case err != nil:
		return err
	case s.settings.Logins == nil:
		return errors.New("this program keeps no logins")
	case s.config.URL == "":
		return fmt.Errorf("%s is no HTTP server, so it has no login", s.config.Name)
	case connection.OwnKey(s.config):
		return fmt.Errorf(`%s brings its key in "headers" or "headersHelper" in its configuration: remove that to log in`, s.config.Name)
	}
	return nil
}

// Login logs in to the HTTP server. It calls show with the address of the login. Then it
// waits until the user has logged in there, or until ctx or the servers end. pasted, which
// may be nil, brings the address at which a browser on another machine ended.
func (s *Server) Login(ctx context.Context, show func(address string), pasted <-chan string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.settings.Life, cancel)()
	login := oauth.Login{
		Server: s.config, Store: s.settings.Logins, Headers: s.config.Headers, Pasted: pasted, Version: s.settings.Version, Show: show,
	}
	if _, err := login.Run(ctx); err != nil {
		return fmt.Errorf("logging in to %s: %w", s.config.Name, err)
	}
	return nil
}

// UseLogin starts the server again after a login.
func (s *Server) UseLogin() error {
	if err := s.Startable(); err != nil {
		return err
	}
	s.restart()
	return nil
}
