package pool_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"sync"

	"coatcheck/pool"
)

// Player as it is today. A mutex cannot be saved, and need not be.
type Player struct {
	Name   string
	Health float64 // a share of what it was at first; it was a number of points
	Team   string  // new
	Friend pool.Handle[Player]

	mu sync.Mutex `coatcheck:"-"`
}

// hurt takes a share of the health.
func (p *Player) hurt(share float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Health -= share
}

// playerV1 is Player as it was when files were written that people still have: copied when Player
// changed, under another name. The types in its fields are copies too, where they have changed.
type playerV1 struct {
	Name   string
	Points int
	Friend pool.Handle[playerV1]
}

// convert makes a player of an old one. A handle is the same number in both pools.
func (old *playerV1) convert() (*Player, error) {
	if old.Points < 0 {
		return nil, errors.New("less than dead")
	}
	return &Player{
		Name: old.Name, Health: float64(old.Points) / 200, Team: "none",
		Friend: pool.Handle[Player](old.Friend),
	}, nil
}

// load reads a file of today's version, or else of the one before.
func load(file []byte) (*pool.Pool[*Player], error) {
	players, err := pool.ReadFrom[*Player](bytes.NewReader(file), nil)
	if errors.Is(err, pool.ErrType) {
		players, err = pool.ReadFromFunc(bytes.NewReader(file), nil, (*playerV1).convert)
	}
	return players, err
}

// A saved game outlives a change of the type of its values. The handles stay, those within values
// among them.
func ExampleReadFromFunc() {
	old := pool.Must[playerV1](nil)
	ann, _ := old.Insert(playerV1{Name: "Ann", Points: 150})
	bob, _ := old.Insert(playerV1{Name: "Bob", Points: 50, Friend: ann})
	var file bytes.Buffer
	if _, err := old.WriteTo(&file); err != nil {
		log.Fatal(err)
	}

	players, err := load(file.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	b := players.MustGet(pool.Handle[*Player](bob))
	friend := players.MustGet(pool.Handle[*Player](b.Friend))
	friend.hurt(0.25)
	fmt.Println(b.Name, b.Health, b.Team, "and", friend.Name, friend.Health)

	file.Reset()
	if _, err := players.WriteTo(&file); err != nil { // in today's version
		log.Fatal(err)
	}
	if players, err = load(file.Bytes()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(players.Len())
	// Output:
	// Bob 0.25 none and Ann 0.5
	// 2
}
