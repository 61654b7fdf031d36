import Testing

@testable import TomboloRedis

@Suite struct RedisDialogueTests {
    private static func received(_ text: String) -> RedisDialogue.Event { .received(Array(text.utf8)) }

    private static let subscribed = "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n"
    private static let message = "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\n17\r\n"
    private static let pong = "*2\r\n$4\r\npong\r\n$0\r\n\r\n"

    private static func subscriber(user: String? = nil, password: String? = nil) -> RedisDialogue {
        RedisDialogue(role: .subscriber(channel: "c"), user: user, password: password)
    }

    private static func publisher() -> RedisDialogue {
        RedisDialogue(role: .publisher(channel: "c"), user: nil, password: nil)
    }

    @Test("a subscriber logs in, subscribes, and gets messages")
    func subscribing() {
        var dialogue = Self.subscriber(user: "u", password: "p")
        #expect(dialogue.handle(.connected) == [.send(RedisDialogue.command("AUTH", "u", "p"))])
        #expect(dialogue.handle(Self.received("+OK\r\n")) == [.send(RedisDialogue.command("SUBSCRIBE", "c"))])
        #expect(
            dialogue.handle(Self.received(Self.subscribed + Self.message)) == [.ready, .message(Array("17".utf8))])
        #expect(dialogue.handle(Self.received(Self.message)) == [.message(Array("17".utf8))])
    }

    @Test("receiving one byte at a time makes no difference")
    func dripFed() {
        var dialogue = Self.subscriber()
        #expect(dialogue.handle(.connected) == [.send(RedisDialogue.command("SUBSCRIBE", "c"))])
        var actions: [RedisDialogue.Action] = []
        for byte in (Self.subscribed + Self.message + Self.message).utf8 {
            actions += dialogue.handle(.received([byte]))
        }
        #expect(actions == [.ready, .message(Array("17".utf8)), .message(Array("17".utf8))])
    }

    @Test("a password without a user is sent alone, and of the server's refusal only the error code is kept")
    func refusedPassword() {
        var dialogue = Self.subscriber(password: "secret")
        #expect(dialogue.handle(.connected) == [.send(RedisDialogue.command("AUTH", "secret"))])
        let actions = dialogue.handle(
            Self.received("-ERR unknown command 'AUTH', with args beginning with: 'secret'\r\n"))
        #expect(actions == [.fail(.refused(code: "ERR"))])
        #expect(!"\(actions)".contains("secret"))
        #expect(dialogue.handle(Self.received("+OK\r\n")) == [])
    }

    @Test("a publisher sends one message at a time, and of the waiting ones only the last")
    func publishing() {
        var dialogue = Self.publisher()
        #expect(dialogue.handle(.publish("1")) == [])
        #expect(dialogue.handle(.publish("2")) == [])
        #expect(dialogue.handle(.connected) == [.ready, .send(RedisDialogue.command("PUBLISH", "c", "2"))])
        #expect(dialogue.handle(.publish("3")) == [])
        #expect(dialogue.handle(.publish("4")) == [])
        #expect(dialogue.handle(Self.received(":3\r\n")) == [.send(RedisDialogue.command("PUBLISH", "c", "4"))])
        #expect(dialogue.handle(Self.received(":0\r\n")) == [])
        #expect(dialogue.handle(.publish("5")) == [.send(RedisDialogue.command("PUBLISH", "c", "5"))])
    }

    @Test("a silent server is pinged, and given up on if it doesn't answer")
    func silence() {
        var dialogue = Self.subscriber()
        _ = dialogue.handle(.connected)
        _ = dialogue.handle(Self.received(Self.subscribed))
        for _ in 0..<3 {
            #expect(dialogue.handle(.silence) == [.send(RedisDialogue.command("PING"))])
            #expect(dialogue.handle(Self.received(Self.pong)) == [])
        }
        #expect(dialogue.handle(.silence) == [.send(RedisDialogue.command("PING"))])
        #expect(dialogue.handle(.silence) == [.fail(.silent(RedisDialogue.silenceInterval * 2))])

        var publisher = Self.publisher()
        _ = publisher.handle(.connected)
        #expect(publisher.handle(.silence) == [.send(RedisDialogue.command("PING"))])
        #expect(publisher.handle(.publish("1")) == [])
        #expect(publisher.handle(Self.received("+PONG\r\n")) == [.send(RedisDialogue.command("PUBLISH", "c", "1"))])
    }

    @Test(
        "an unexpected reply ends the connection",
        arguments: [
            "+OK\r\n", ":1\r\n", "*0\r\n", "*3\r\n$7\r\nmessage\r\n$1\r\nd\r\n$1\r\n1\r\n",
            "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n:1\r\n", "*3\r\n$8\r\npmessage\r\n$1\r\nc\r\n$1\r\n1\r\n",
            "HTTP/1.1 200\r\n",
        ])
    func unexpected(_ text: String) {
        var dialogue = Self.subscriber()
        _ = dialogue.handle(.connected)
        #expect(dialogue.handle(Self.received(Self.subscribed)) == [.ready])
        let actions = dialogue.handle(Self.received(text))
        guard case .fail(.violation)? = actions.last, actions.count == 1 else {
            Issue.record("\(actions)")
            return
        }
        #expect(dialogue.handle(Self.received(Self.message)) == [])
    }

    @Test(
        "addresses",
        arguments: [
            ("redis://host", "redis://host:6379"), ("rediss://:pw@host:7000/", "rediss://host:7000"),
            ("redis://user:p%40ss@[::1]:1", "redis://[::1]:1"),
        ])
    func addresses(_ text: String, _ description: String) throws {
        let address = try #require(RedisAddress(text))
        #expect("\(address)" == description)
        var dumped = ""
        dump(address, to: &dumped)
        #expect(!dumped.contains("p@ss") && !dumped.contains("pw") && !String(reflecting: address).contains("pw"))
    }

    @Test(
        "texts that aren't addresses",
        arguments: ["", "host", "http://host", "redis://", "redis://host:0", "redis://host/1", "redis://user@host"])
    func badAddresses(_ text: String) { #expect(RedisAddress(text) == nil) }
}
