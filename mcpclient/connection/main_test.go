package connection_test

import (
	"testing"

	"replan/mcpclient/pooltest"
)

func TestMain(m *testing.M) { pooltest.Main(m) }

type (
	remote  = pooltest.Remote
	message = pooltest.Message
	handler = pooltest.Handler
)

const (
	newer = pooltest.NewerGreeting
	tools = pooltest.ToolList
	echo  = pooltest.EchoResult
)

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
	newRemote   = pooltest.NewRemote
	newServer   = pooltest.NewServer
	fault       = pooltest.Fault
	newSession  = pooltest.NewSession
	existing    = pooltest.Existing
	inProcess   = pooltest.InProcess
	askers      = pooltest.Askers
	asks        = pooltest.Asks
)
