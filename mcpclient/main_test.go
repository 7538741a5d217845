package mcpclient_test

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
	listen      = pooltest.Listen
	over        = pooltest.Over
	fault       = pooltest.Fault
	newSession  = pooltest.NewSession
	existing    = pooltest.Existing
)
