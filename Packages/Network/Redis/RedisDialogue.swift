/// One connection's talk with Redis, to hear a channel or to publish in one: event in, actions out. No I/O, no clock.
///
/// States and what follows them:
/// - `new` → `authenticating` or `subscribing` or `ready`, when connected
/// - `authenticating` → `subscribing` or `ready`, when the password was accepted
/// - `subscribing` → `ready`, when the subscription was confirmed
/// - `ready`
/// - any → `failed`, which is final
package struct RedisDialogue: Sendable {
    package enum Role: Hashable, Sendable {
        case subscriber(channel: String)
        case publisher(channel: String)
    }

    package enum Event: Sendable {
        case connected
        case received([UInt8])
        /// Nothing was received for ``silenceInterval``.
        case silence
        /// There is something to publish. What waited to be published before is superseded.
        case publish(String)
    }

    package enum Action: Hashable, Sendable {
        case send([UInt8])
        /// The channel is heard, or can be published in, from now on.
        case ready
        case message([UInt8])
        case fail(RedisError)
    }

    private enum State: Hashable {
        case new, authenticating, subscribing, ready, failed
    }

    /// Without a byte for this long, the server is asked for one; without one for as long again, it counts as gone.
    package static let silenceInterval = Duration.seconds(15)

    private let role: Role
    private let user: String?
    private let password: String?
    private var state = State.new
    private var reader = RedisReader()
    /// Answers that the server owes to a publisher: to PUBLISH and PING.
    private var unanswered = 0
    private var isPinging = false
    /// Waits for the answer to the one before: one is under way at a time.
    private var waiting: String?

    package init(role: Role, user: String?, password: String?) {
        self.role = role
        self.user = user
        self.password = password
    }

    package mutating func handle(_ event: Event) -> [Action] {
        guard state != .failed else { return [] }
        do throws(RedisError) {
            switch event {
            case .connected: return begin()
            case .received(let bytes):
                isPinging = false
                var actions: [Action] = []
                for value in try reader.read(bytes) { actions += try take(value) }
                return actions
            case .silence:
                if isPinging || state != .ready { throw .silent(Self.silenceInterval * 2) }
                isPinging = true
                unanswered += 1
                return [.send(Self.command("PING"))]
            case .publish(let text):
                waiting = text
                return publishWaiting()
            }
        } catch {
            state = .failed
            return [.fail(error)]
        }
    }

    private mutating func begin() -> [Action] {
        guard let password else { return enter() }
        state = .authenticating
        return [.send(Self.command(user.map { ["AUTH", $0, password] } ?? ["AUTH", password]))]
    }

    /// Nothing is in the way of what the connection is for.
    private mutating func enter() -> [Action] {
        switch role {
        case .subscriber(let channel):
            state = .subscribing
            return [.send(Self.command("SUBSCRIBE", channel))]
        case .publisher:
            state = .ready
            return [.ready] + publishWaiting()
        }
    }

    private mutating func publishWaiting() -> [Action] {
        guard case .publisher(let channel) = role, state == .ready, unanswered == 0, let text = waiting else {
            return []
        }
        waiting = nil
        unanswered += 1
        return [.send(Self.command("PUBLISH", channel, text))]
    }

    private mutating func take(_ value: RedisValue) throws(RedisError) -> [Action] {
        if case .error(let code) = value { throw .refused(code: code) }
        switch (state, role) {
        case (.authenticating, _):
            guard value == .simple("OK") else { throw .violation("no answer to AUTH") }
            return enter()
        case (.subscribing, .subscriber(let channel)):
            guard case .array(let parts?) = value, parts.count == 3, parts[0] == Self.bulk("subscribe"),
                parts[1] == Self.bulk(channel)
            else { throw .violation("no answer to SUBSCRIBE") }
            state = .ready
            return [.ready]
        case (.ready, .subscriber(let channel)):
            guard case .array(let parts?) = value else { throw .violation("a value that wasn't asked for") }
            // The answer to PING has two parts.
            if parts.first == Self.bulk("pong") {
                unanswered = 0
                return []
            }
            guard parts.count == 3, parts[0] == Self.bulk("message"), parts[1] == Self.bulk(channel),
                case .bulk(let content?) = parts[2]
            else { throw .violation("a message of another kind") }
            return [.message(content)]
        case (.ready, .publisher):
            guard unanswered > 0 else { throw .violation("a value that wasn't asked for") }
            switch value {
            case .integer, .simple("PONG"): unanswered -= 1
            default: throw .violation("no answer to PUBLISH")
            }
            return publishWaiting()
        default: throw .violation("a value before it was asked")
        }
    }

    private static func bulk(_ text: String) -> RedisValue { .bulk(Array(text.utf8)) }

    static func command(_ words: String...) -> [UInt8] { command(words) }

    static func command(_ words: [String]) -> [UInt8] {
        var bytes = Array("*\(words.count)\r\n".utf8)
        for word in words { bytes += Array("$\(word.utf8.count)\r\n\(word)\r\n".utf8) }
        return bytes
    }
}
