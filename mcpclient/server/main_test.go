package server_test

import (
	"testing"

	"replan/mcpclient/pooltest"
)

func TestMain(m *testing.M) { pooltest.Main(m) }

var (
	newPool     = pooltest.New
	aChild      = pooltest.Child
	tool        = pooltest.Tool
	call        = pooltest.Call
	status      = pooltest.Status
	awaitState  = pooltest.AwaitState
	isToolError = pooltest.IsToolError
	over        = pooltest.Over
	newRemote   = pooltest.NewRemote
	newServer   = pooltest.NewServer
	fault       = pooltest.Fault
)
