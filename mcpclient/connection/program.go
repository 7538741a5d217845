package connection

import "replan/mcpclient/config"

// CheckProgram reports why the program of a server cannot be started: it was not found, or
// its working directory was not. The error says what to do. A server without a program has
// no such error.
func CheckProgram(settings Settings, s config.Server) error {
	if s.Command == "" {
		return nil
	}
	_, err := command(settings, s)
	return err
}
