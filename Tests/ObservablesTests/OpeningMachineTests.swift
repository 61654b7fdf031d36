import Testing

@testable import TomboloObservables

@Suite("The course of opening a synced Realm")
struct OpeningMachineTests {
    /// Feeds events and checks the actions that follow each.
    private func play(
        opensFile: Bool = false, _ transcript: [(OpeningMachine.Event, [OpeningMachine.Action])],
        _ location: SourceLocation = #_sourceLocation
    ) {
        var machine = OpeningMachine(opensFileOnFailure: opensFile)
        for (event, actions) in transcript {
            #expect(machine.handle(event) == actions, "after \(event)", sourceLocation: location)
        }
    }

    @Test("Waits for a user, opens, and shows the progress")
    func opens() {
        play([
            (.user(nil), [.showWaiting]), (.user(nil), []),
            (.user("ada"), [.showConnecting, .open(attempt: 1)]), (.user("ada"), []),
            (.progress(attempt: 1), [.showProgress]), (.opened(attempt: 1), [.showOpen]),
            (.progress(attempt: 1), []), (.user("ada"), []),
        ])
    }

    @Test("Another user's Realm replaces the first one's, whose late events are ignored")
    func switches() {
        play([
            (.user("ada"), [.showConnecting, .open(attempt: 1)]),
            (.user("bob"), [.stop, .showConnecting, .open(attempt: 2)]),
            (.opened(attempt: 1), []), (.failed(attempt: 1), []), (.progress(attempt: 1), []),
            (.opened(attempt: 2), [.showOpen]), (.user("ada"), [.showConnecting, .open(attempt: 3)]),
        ])
    }

    @Test("A logout ends the opening or the open Realm, and the next login opens again")
    func logsOut() {
        play([
            (.user("ada"), [.showConnecting, .open(attempt: 1)]), (.user(nil), [.stop, .showWaiting]),
            (.opened(attempt: 1), []), (.user("ada"), [.showConnecting, .open(attempt: 2)]),
            (.opened(attempt: 2), [.showOpen]), (.user(nil), [.showWaiting]),
            (.user("ada"), [.showConnecting, .open(attempt: 3)]),
        ])
    }

    @Test("A failure is shown, or opens the local file and is shown only if that fails too")
    func fails() {
        play([(.user("ada"), [.showConnecting, .open(attempt: 1)]), (.failed(attempt: 1), [.showError])])
        play(
            opensFile: true,
            [
                (.user("ada"), [.showConnecting, .open(attempt: 1)]), (.failed(attempt: 1), [.openFile(attempt: 1)]),
                (.opened(attempt: 1), [.showOpen]), (.failed(attempt: 1), []),
            ])
        play(
            opensFile: true,
            [
                (.user("ada"), [.showConnecting, .open(attempt: 1)]), (.failed(attempt: 1), [.openFile(attempt: 1)]),
                (.failed(attempt: 1), [.showError]),
            ])
    }

    @Test("Time runs out only while there's no connection")
    func timesOut() {
        play([
            (.user("ada"), [.showConnecting, .open(attempt: 1)]), (.timedOut(attempt: 1, isConnected: true), []),
            (.timedOut(attempt: 1, isConnected: false), [.stop, .showError]), (.opened(attempt: 1), []),
        ])
        play(
            opensFile: true,
            [
                (.user("ada"), [.showConnecting, .open(attempt: 1)]),
                (.timedOut(attempt: 1, isConnected: false), [.stop, .openFile(attempt: 1)]),
            ])
        play([
            (.user("ada"), [.showConnecting, .open(attempt: 1)]), (.opened(attempt: 1), [.showOpen]),
            (.timedOut(attempt: 1, isConnected: false), []),
        ])
    }

    @Test("Cancelling shows an error, with either failure policy, and only while something is being opened")
    func cancels() {
        for opensFile in [false, true] {
            play(
                opensFile: opensFile,
                [
                    (.cancelled, []), (.user("ada"), [.showConnecting, .open(attempt: 1)]),
                    (.cancelled, [.stop, .showError]), (.cancelled, []), (.opened(attempt: 1), []),
                    (.user("bob"), [.showConnecting, .open(attempt: 2)]),
                ])
        }
    }

    @Test("Another partition is opened for the same user")
    func otherRealm() {
        play([
            (.otherRealm, []), (.user(nil), [.showWaiting]), (.otherRealm, []),
            (.user("ada"), [.showConnecting, .open(attempt: 1)]),
            (.otherRealm, [.stop, .showConnecting, .open(attempt: 2)]), (.opened(attempt: 2), [.showOpen]),
            (.otherRealm, [.showConnecting, .open(attempt: 3)]),
        ])
    }
}
