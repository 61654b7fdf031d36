import Foundation
import ListingModels
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol

/// Opens one hostile connection after the other, on its own thread. Calls block.
struct HostileDevice: Sendable {
    /// The kernel's receive buffer for a connection that reads little, in bytes.
    static let smallReceiveBuffer: Int32 = 4 << 10
    static let stallSeconds = 5.0
    /// The pause after a refused connection.
    static let pauseSeconds = 0.1
    static let subscriptionCount = 1_000
    static let searchCount = SubscriptionSet.maximumSearchCount
    static let (changesetsPerUpload, objectsPerChangeset) = (10, 100)

    let kind: HostileKind
    let number: Int
    let port: Int
    let token: String
    /// The bytes of the largest hello, the same for all.
    let largeHello: [UInt8]
    let tally: HostileTally

    private static let codec = MessageCodec(schema: LightInbox.schema)
    private static let classes = HelloClass.describe(LightInbox.schema)

    /// Runs for as long as the process.
    func run() {
        while true {
            do {
                tally.begin()
                try attack()
            } catch {
                tally.end("\(error)")
                Thread.sleep(forTimeInterval: Self.pauseSeconds)
            }
        }
    }

    private func attack() throws {
        switch kind {
        case .slowReaders:
            let socket = try open(wanting: .constant(true))
            while true {
                try socket.readByte()
                Thread.sleep(forTimeInterval: 1)
            }
        case .halfOpen:
            if number.isMultiple(of: 2) {
                let socket = try RawSocket(port: port)
                try socket.write(Array("GET /sync HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: web".utf8))
                _ = try socket.bytes(1)
            } else {
                let socket = try RawWebSocket(port: port, path: "/sync")
                try socket.sendHalf(Self.codec.encode(.hello(hello(wanting: [.constant(true)]))))
                _ = try socket.receive()
            }
        case .stalledBootstraps:
            _ = try open(wanting: .constant(true))
            Thread.sleep(forTimeInterval: Self.stallSeconds)
        case .subscriptions:
            try subscribe { version in
                (0..<Self.subscriptionCount).map {
                    .compare(PropertyPath("location"), .equal, .string("hostile \(version) \($0)"))
                }
            }
        case .predicates:
            try subscribe { version in
                [
                    .or(
                        (0..<Self.searchCount).map {
                            .text(PropertyPath("location"), .contains, "x\(version) \($0)", ignoringCase: true)
                        })
                ]
            }
        case .hellos:
            let socket = try RawWebSocket(port: port, path: "/sync")
            try socket.send(largeHello)
            _ = try socket.receive()
        case .uploads: try upload()
        }
    }

    private func open(wanting predicate: TomboloModel.Predicate) throws -> RawWebSocket {
        let socket = try RawWebSocket(port: port, path: "/sync", receiveBufferByteCount: Self.smallReceiveBuffer)
        try socket.send(Self.codec.encode(.hello(hello(wanting: [predicate]))))
        return socket
    }

    private func hello(wanting predicates: [TomboloModel.Predicate]) -> Hello {
        Hello(
            accessToken: token, client: ClientID(rawValue: .random(in: 1 ... .max)), position: .none,
            activeSubscriptions: .empty, wantedSubscriptions: Self.set(1, predicates), acknowledged: 0,
            classes: Self.classes)
    }

    private static func set(_ version: Int64, _ predicates: [TomboloModel.Predicate]) -> SubscriptionSet {
        SubscriptionSet(
            version: version,
            subscriptions: predicates.enumerated().map {
                Subscription(name: "s\($0.offset)", className: "Listing", predicate: $0.element)
            })
    }

    /// Changes the subscriptions whenever the previous ones are complete.
    private func subscribe(_ predicates: (Int64) -> [TomboloModel.Predicate]) throws {
        let socket = try RawWebSocket(port: port, path: "/sync")
        try socket.send(Self.codec.encode(.hello(hello(wanting: predicates(1)))))
        var version: Int64 = 1
        while true {
            guard case .end(let end) = try Self.codec.decodeServerMessage(socket.receive()) else { continue }
            try socket.send(Self.codec.encode(.applied(tick: end.position.tick)))
            guard end.position.subscriptionVersion == version else { continue }
            version += 1
            try socket.send(Self.codec.encode(.subscribe(Self.set(version, predicates(version)))))
        }
    }

    private func upload() throws {
        guard let index = LightInbox.schema.index(of: "Listing"),
            let location = LightInbox.schema[index].columnIndex("location"),
            let price = LightInbox.schema[index].columnIndex("price")
        else { return }
        let socket = try RawWebSocket(port: port, path: "/sync")
        try socket.send(Self.codec.encode(.hello(hello(wanting: [.constant(false)]))))
        while true {
            if case .end = try Self.codec.decodeServerMessage(socket.receive()) { break }
        }
        var changeset: Int64 = 1
        while true {
            let changesets = (0..<Int64(Self.changesetsPerUpload)).map { offset in
                Changeset(
                    number: changeset + offset, base: 0,
                    stamp: Stamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)),
                    instructions: (0..<Self.objectsPerChangeset).map { object in
                        .create(
                            ObjectReference(classIndex: index, key: .objectId(.generate())),
                            [
                                FieldWrite(column: location, value: .string("flood")),
                                FieldWrite(column: price, value: .int(Int64(object))),
                            ])
                    })
            }
            changeset += Int64(Self.changesetsPerUpload)
            try socket.send(Self.codec.encode(.upload(changesets)))
            socket.discardReceived()
        }
    }

    /// A hello with as many classes as fit, none of which exists on the server.
    static func largeHello(token: String) -> [UInt8] {
        let name = String(repeating: "x", count: 50)
        let classes = (0..<4_000).map { HelloClass(name: "\(name)\($0)", columns: ["a: int"]) }
        return codec.encode(
            .hello(
                Hello(
                    accessToken: token, client: ClientID(rawValue: 1), position: .none, activeSubscriptions: .empty,
                    wantedSubscriptions: .empty, acknowledged: 0, classes: Self.classes + classes)))
    }
}
