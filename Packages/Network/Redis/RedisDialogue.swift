/// One connection's dialogue with Redis, either to listen to a channel or to publish to one: event in, actions out,
/// without I/O or a clock.
///
/// States and their transitions:
/// - `new` → `authenticating`, `subscribing` or `ready`, when connected
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
        /// There is something to publish. It replaces any text that was still waiting.
        case publish(String)
    }

    package enum Action: Hashable, Sendable {
        case send([UInt8])
        /// From now on the channel can be listened to, or published to.
        case ready
        case message([UInt8])
        case fail(RedisError)
    }

    private enum State: Hashable {
        case new, authenticating, subscribing, ready, failed
    }

    /// After this long without a byte, the dialogue pings the server. After as long again, the server counts as gone.
    package static let silenceInterval = Duration.seconds(15)

    private let role: Role
    private let user: String?
    private let password: String?
    private var state = State.new
    private var reader = RedisReader()
    /// Replies that the server still owes a publisher, to PUBLISH and PING.
    private var unanswered = 0
    private var isPinging = false
    /// Waits for the previous reply: only one PUBLISH is in flight at a time.
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

    /// The connection can now start its actual purpose.
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
            guard value == .simple("OK") else { throw .violation("something other than the reply to AUTH") }
            return enter()
        case (.subscribing, .subscriber(let channel)):
            guard case .array(let parts?) = value, parts.count == 3, parts[0] == Self.bulk("subscribe"),
                parts[1] == Self.bulk(channel)
            else { throw .violation("something other than the reply to SUBSCRIBE") }
            state = .ready
            return [.ready]
        case (.ready, .subscriber(let channel)):
            guard case .array(let parts?) = value else { throw .violation("an unexpected value") }
            // The reply to PING has two parts.
            if parts.first == Self.bulk("pong") {
                unanswered = 0
                return []
            }
            guard parts.count == 3, parts[0] == Self.bulk("message"), parts[1] == Self.bulk(channel),
                case .bulk(let content?) = parts[2]
            else { throw .violation("a message of an unexpected kind") }
            return [.message(content)]
        case (.ready, .publisher):
            guard unanswered > 0 else { throw .violation("an unexpected value") }
            switch value {
            case .integer, .simple("PONG"): unanswered -= 1
            default: throw .violation("something other than the reply to PUBLISH")
            }
            return publishWaiting()
        default: throw .violation("a value before the first command")
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
