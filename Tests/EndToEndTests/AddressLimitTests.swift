import Foundation
import NIOCore
import NIOPosix
import Testing
import Tombolo
import TomboloSyncProtocol

/// Per-address limits, at gateway processes that several addresses of this machine connect to without a proxy. On
/// Linux, all of 127.0.0.0/8 is local.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct AddressLimitTests {
    private static let password = "correct horse battery"
    private static let near = "127.0.0.2"
    private static let far = "127.0.0.3"
    private static let names = ["ada", "grace", "edsger", "barbara"]

    /// A gateway with accounts, and requests to it from two addresses. Each address claims in a header to be the other
    /// one, which the gateway must ignore.
    private func withCallers(
        _ body: (
            _ near: @escaping @Sendable (String, String) async throws -> Requests.Answer,
            _ far: @escaping @Sendable (String, String) async throws -> Requests.Answer
        ) async throws -> Void
    ) async throws {
        try await Phone.withServer { server, phone in
            let mails = phone.launch().emailPasswordAuth
            for name in Self.names {
                try await mails.registerUser(email: "\(name)@example.org", password: Self.password)
            }
            let url = await server.gateway.url
            try await Requests.with(url, from: Self.near) { near in
                try await Requests.with(url, from: Self.far) { far in
                    try await body(
                        { try await near($0, $1, from: Self.far) }, { try await far($0, $1, from: Self.near) })
                }
            }
        }
    }

    private static func credentials(_ name: String, _ password: String) -> String {
        #"{"email": "\#(name)@example.org", "password": "\#(password)"}"#
    }

    @Test("an address that guesses an account's password has to wait, and the user's own address logs in")
    func passwords() async throws {
        try await withCallers { near, far in
            // Failures count for a minute. If that passes before everything is checked, the test tries another account.
            var isInTime = false
            for name in Self.names where !isInTime {
                let began = ContinuousClock.now
                var statuses: [Int] = []
                while statuses.last != 429, statuses.count < 12 {
                    statuses.append(try await near("/login", Self.credentials(name, "guess \(statuses.count)")).status)
                }
                let refused = try await near("/login", Self.credentials(name, Self.password))
                isInTime = ContinuousClock.now - began < .seconds(59)
                guard isInTime else { continue }
                #expect(Set(statuses) == [401, 429], "\(statuses)")
                #expect(refused.status == 429 && refused["code"] == "too_many_requests", "\(refused)")
                let login = try await far("/login", Self.credentials(name, Self.password))
                #expect(login.status == 200, "\(login)")
            }
            #expect(isInTime, "every dozen logins took longer than a minute")
        }
    }

    @Test("an address that tries keys has to wait, while another address's key is checked")
    func keys() async throws {
        try await withCallers { near, far in
            let wrong = #"{"provider": "api-key", "key": "none of anybody's"}"#
            // A few at a time, to reach the per-minute limit within one minute.
            var statuses: [Int] = []
            while !statuses.contains(429), statuses.count < 2_000 {
                statuses += try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<8 { group.addTask { try await near("/login", wrong).status } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
            #expect(Set(statuses) == [401, 429], "\(Set(statuses))")
            // At least as many as the limit, which starts anew after a minute.
            #expect(statuses.count > 200)
            #expect(try await far("/login", wrong).status == 401)
        }
    }

    /// The server's answer to a connection that sends nothing and is refused.
    private static func refusal(_ server: Server, from address: String) async throws -> String {
        let (host, port) = await server.address
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(to: SocketAddress(ipAddress: address, port: 0))
            .connect(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, _ in
            var answer = ""
            for try await buffer in inbound { answer += String(buffer: buffer) }
            return answer
        }
    }

    @Test("an address with the maximum number of devices is refused another, and another address's device is welcomed")
    func connections() async throws {
        try await Platform.with(settings: ["TOMBOLO_CONNECTIONS_PER_ADDRESS": "2"]) { platform in
            let gateway = platform.gateways[0]
            let codec = MessageCodec(schema: Platform.schema)
            let token = try platform.token(of: "attendee")
            @Sendable func greet(_ socket: RawSocket) async throws {
                let hello = Greeting.hello(Platform.schema, token: token, client: Greeting.newClient())
                try await socket.send(hello, codec: codec)
                guard case .message(let bytes) = try await socket.next(),
                    case .welcome = try codec.decodeServerMessage(bytes)
                else { throw EndToEndFailure("The gateway doesn't welcome a device.") }
            }
            // Both count, and keep counting: their sessions stay open.
            try await RawSocket.with(gateway, from: Self.near) { socket in
                try await greet(socket)
                try await RawSocket.with(gateway, from: Self.near) { socket in
                    try await greet(socket)
                    let refused = try await Self.refusal(gateway, from: Self.near)
                    #expect(refused.hasPrefix("HTTP/1.1 429"), "\(refused)")
                    #expect(refused.contains("Your address has too many connections"), "\(refused)")
                    try await RawSocket.with(gateway, from: Self.far) { try await greet($0) }
                }
            }
        }
    }
}
