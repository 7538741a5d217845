package data_test

import (
	"testing"

	"replan/mcpclient/workspace/workspacetest"
)

func TestMain(m *testing.M) { workspacetest.Main(m) }
