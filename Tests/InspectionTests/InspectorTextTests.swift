import Foundation
import Testing
import TomboloHTTP

@testable import TomboloInspection

/// The inspector's answers as shown in a terminal.
@Suite struct InspectorTextTests {
    private static func json(_ text: String) throws -> JSON {
        try JSONDecoder().decode(JSON.self, from: Data(text.utf8))
    }

    private static func session(waiting: String = "null") -> String {
        """
        {"id": "7", "client": "1k2x9", "user": "65f1000000000000000000aa", "address": "192.0.2.1", "state": "live",
         "connectedSeconds": 7384, "generation": 2, "partition": null,
         "subscriptions": {"version": 3, "count": 2, "first": [
            {"name": "cheap", "class": "Listing", "objects": "price < 200"},
            {"name": null, "class": "Note", "objects": "all objects"}]},
         "waitingSubscriptions": \(waiting),
         "position": {"tick": 5117, "sentTick": 5117, "behindTicks": 3, "behindMilliseconds": 1250, "unappliedBatches": 1,
            "isFollowing": true},
         "uploads": {"waiting": 1, "underWay": 0, "bytes": 90, "received": 12, "acknowledged": 11, "unacknowledged": 1},
         "sending": {"isWritable": true, "isReadingBatch": false, "pendingBytes": 0, "spooledBytes": 0}}
        """
    }

    @Test("the list of sessions is a table with aligned columns")
    func sessions() throws {
        let waiting = #"{"id": "12", "client": null, "user": null, "address": "", "state": "waiting"}"#
        let text = InspectorText.sessions(
            try Self.json(
                """
                {"gateway": "host:4711", "count": 2, "page": 1, "newestTick": 5120,
                 "sessions": [\(Self.session()), \(waiting)]}
                """))
        #expect(
            text == """
                Gateway host:4711, newest tick 5120: 2 sessions

                SESSION  STATE    USER                      DEVICE  ADDRESS    CONNECTED  BEHIND          UPLOADS  SUBSCRIPTIONS
                7        live     65f1000000000000000000aa  1k2x9   192.0.2.1  2 h 3 min  3 ticks, 1.2 s  1        2: 'cheap': Listing, price < 200 …
                12       waiting  -                         -       -          -          -               -        0
                """, "\(text)")
        let none = InspectorText.sessions(
            try Self.json(#"{"gateway": "g:1", "count": 0, "page": 1, "newestTick": 1, "sessions": []}"#))
        #expect(none == "Gateway g:1, newest tick 1: 0 sessions")
        let part = InspectorText.sessions(
            try Self.json(
                #"{"gateway": "g:1", "count": 101, "page": 2, "newestTick": 1, "sessions": [\#(Self.session())]}"#))
        #expect(part.hasSuffix("This is page 2, with 1 session. --page 3 shows the next."), "\(part)")
    }

    @Test("a session is shown with all of its subscriptions")
    func oneSession() throws {
        let session = Self.session(waiting: #"{"version": 4, "count": 3, "first": []}"#)
        let text = InspectorText.session(try Self.json(#"{"gateway": "g:1", "session": \#(session)}"#))
        let lines = text.split(separator: "\n").map { String($0).replacing(/\s+/, with: " ") }
        for line in [
            "Session 7 of gateway g:1", " behind 3 ticks, 1.2 s",
            " changesets 12 received, 11 acknowledged, 1 waiting, 0 under way",
            "2 subscriptions, version 3", " 'cheap': Listing, price < 200", " Note, all objects",
            "3 subscriptions that wait for the batch under way, version 4", " and 3 more",
        ] {
            #expect(lines.contains(line), "\(line)\n\(text)")
        }
    }

    @Test("each device's reasons are listed in order, with their details")
    func why() throws {
        let text = InspectorText.why(
            try Self.json(
                """
                {"class": "Listing", "id": "65f1", "property": null, "connectedDevices": 3, "gateway": "g:1", "devices": [
                  {"client": "1k2x9", "user": "ann", "isConnectedHere": true, "isVisible": false, "state": "live",
                   "tick": 5120, "answer": "None.", "reasons": [{"code": "no_subscription_matches",
                   "message": "None of the device's subscriptions to Listing matches the object (1 checked).",
                   "details": ["The subscription 'cheap' requires price < 200, but price is 900"]}]},
                  {"client": null, "user": "ben", "isConnectedHere": false, "lastSeen": "2026-11-22", "reasons": [
                   {"code": "not_connected_here", "message": "Not here.", "details": []}]}]}
                """))
        #expect(
            text == """
                Listing 65f1, asked of gateway g:1

                Device 1k2x9 of user ann, live, at tick 5120
                  no_subscription_matches: None of the device's subscriptions to Listing matches the object (1 checked).
                    The subscription 'cheap' requires price < 200, but price is 900

                Device - of user ben, not connected here, last seen 2026-11-22
                  not_connected_here: Not here.

                Connected devices that aren't shown: 1. Ask about one with --client DEVICE.
                """, "\(text)")
    }

    @Test("text from a device can't move the cursor, start a line or change the text direction")
    func terminalIsSafe() throws {
        let name = #"\u001b[2Jcheap\r\n\u202eX\u0007\u009b"#
        let session = Self.session().replacing(#""cheap""#, with: "\"\(name)\"")
        let answers = [
            InspectorText.sessions(
                try Self.json(#"{"gateway": "g", "count": 1, "page": 1, "newestTick": 1, "sessions": [\#(session)]}"#)),
            InspectorText.session(try Self.json(#"{"gateway": "g", "session": \#(session)}"#)),
            InspectorText.why(
                try Self.json(
                    #"{"class": "\#(name)", "id": "\#(name)", "property": "\#(name)", "devices": [{"client": "\#(name)", "reasons": [{"code": "\#(name)", "message": "\#(name)", "details": ["\#(name)"]}]}]}"#
                )),
        ]
        for answer in answers {
            #expect(answer.contains("cheap"))
            for scalar in answer.unicodeScalars where scalar != "\n" {
                #expect(![.control, .format, .lineSeparator].contains(scalar.properties.generalCategory), "\(answer)")
            }
            #expect(!answer.contains("\r"))
        }
    }

    @Test("an incomplete answer is shown anyway")
    func incomplete() throws {
        for text in ["{}", "[]", "null", #"{"sessions": [{}], "devices": [{}], "session": {}}"#] {
            let json = try Self.json(text)
            for shown in [InspectorText.sessions(json), InspectorText.session(json), InspectorText.why(json)] {
                #expect(!shown.isEmpty)
            }
        }
    }
}
