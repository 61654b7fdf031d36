import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

private typealias F = SessionFixture

/// The checks on a hello: its version, its classes, its subscriptions, and their sizes.
@Suite struct ServerSessionHelloTests: ServerSessionTranscript {
    var session = ServerSession(schema: F.schema)

    @Test("A hello of an unknown version, class or subscription is refused with the reason")
    mutating func badHellos() {
        var hello = F.hello()
        hello.protocolVersion = 99
        #expect(on(.message(.hello(hello))) == ["send failure unsupportedVersion", "close"])
        session = ServerSession(schema: F.schema)
        hello = F.hello()
        hello.classes = [HelloClass(name: "Itm", columns: ["_id: int"])]
        _ = on(.message(.hello(hello)))
        guard case .send(.failure(let failure)) = session.handle(.authenticated(F.authority)).first else {
            return #expect(Bool(false))
        }
        #expect(failure.code == .badSchema)
        #expect(failure.message.contains("Did you mean Item?"))
        session = ServerSession(schema: F.schema)
        let unknown = Subscription(name: nil, className: "Nothing", predicate: .constant(true))
        hello = F.hello(wanted: SubscriptionSet(version: 2, subscriptions: [unknown]))
        _ = on(.message(.hello(hello)))
        #expect(on(.authenticated(F.authority)) == ["send failure badSubscription", "close"])
    }

    @Test("A hello's classes aren't checked until its sender is authenticated")
    mutating func unauthenticatedHello() {
        var hello = F.hello()
        hello.classes = [HelloClass(name: "Nothing", columns: [])]
        #expect(on(.message(.hello(hello))) == ["authenticate token"])
        #expect(
            on(.failed(SessionFailure(.notAuthenticated, "no"))) == ["send failure notAuthenticated", "close"])
    }

    @Test("A failure quotes only the beginning of a long name")
    mutating func longNames() {
        let long = String(repeating: "Item", count: 100_000)
        let unknown = Subscription(name: nil, className: long, predicate: .constant(true))
        var withClass = F.hello()
        withClass.classes = [HelloClass(name: long, columns: [])]
        var withColumn = F.hello()
        withColumn.classes = [HelloClass(name: "Item", columns: [long + ": int"])]
        let withQuery = F.hello(wanted: SubscriptionSet(version: 2, subscriptions: [unknown]))
        for hello in [withClass, withColumn, withQuery] {
            session = ServerSession(schema: F.schema)
            _ = on(.message(.hello(hello)))
            guard case .send(.failure(let failure)) = session.handle(.authenticated(F.authority)).first else {
                return #expect(Bool(false))
            }
            #expect(failure.message.contains("ItemItem"))
            #expect(failure.message.utf8.count <= ServerSession.maximumFailureLength + 3)
        }
    }

    @Test("A failure is truncated by bytes, even if a name has few characters")
    mutating func aFailureQuotesLittleOfALongCharacter() {
        let long = "Item" + String(repeating: "\u{301}", count: 100_000)
        let unknown = Subscription(name: long, className: long, predicate: .constant(true))
        let path = Subscription(
            name: nil, className: "Item", predicate: .compare(PropertyPath(long), .equal, .int(1)))
        var withClass = F.hello()
        withClass.classes = [HelloClass(name: long, columns: [])]
        var withColumn = F.hello()
        withColumn.classes = [HelloClass(name: "Item", columns: [long + ": int"])]
        let withQuery = F.hello(wanted: SubscriptionSet(version: 2, subscriptions: [unknown]))
        let withPath = F.hello(wanted: SubscriptionSet(version: 2, subscriptions: [path]))
        for hello in [withClass, withColumn, withQuery, withPath] {
            session = ServerSession(schema: F.schema)
            _ = on(.message(.hello(hello)))
            guard case .send(.failure(let failure)) = session.handle(.authenticated(F.authority)).first else {
                return #expect(Bool(false))
            }
            #expect(failure.message.utf8.count <= 500)
        }
        session = ServerSession(schema: F.schema)
        guard case .send(.failure(let failure)) = session.handle(.failed(SessionFailure(.badMessage, long))).first
        else { return #expect(Bool(false)) }
        #expect(failure.message.utf8.count <= ServerSession.maximumFailureLength + 3)
    }

    @Test("A hello that names a class or a property twice is refused")
    mutating func namesOfAHelloAreDifferent() throws {
        let item = try #require(HelloClass.describe(F.schema).first { $0.name == "Item" })
        let column = try #require(item.columns.last)
        for classes in [
            [item, item], [HelloClass(name: "Item", columns: item.columns + [column])],
            [HelloClass(name: "Item", columns: item.columns + [item.columns[0]])],
        ] {
            session = ServerSession(schema: F.schema)
            var hello = F.hello()
            hello.classes = classes
            _ = on(.message(.hello(hello)))
            guard case .send(.failure(let failure)) = session.handle(.authenticated(F.authority)).first else {
                return #expect(Bool(false))
            }
            #expect(failure.code == .badSchema)
            #expect(failure.message.contains("Item"))
            #expect(failure.message.contains("twice"))
        }
    }

    @Test("The server refuses a subscription that searches for a long text, and a set with too many searches")
    mutating func searchesAreBounded() {
        func contains(_ text: String) -> Subscription {
            Subscription(
                name: "search", className: "Item",
                predicate: .text(PropertyPath("name"), .contains, text, ignoringCase: false))
        }
        let long = contains(String(repeating: "a", count: Predicate.maximumNeedleByteCount + 1))
        goLive()
        #expect(
            on(.message(.subscribe(SubscriptionSet(version: 2, subscriptions: [long])))) == [
                "unfollow 1", "send failure badSubscription", "close",
            ])
        session = ServerSession(schema: F.schema)
        _ = on(.message(.hello(F.hello(wanted: SubscriptionSet(version: 2, subscriptions: [long])))))
        #expect(on(.authenticated(F.authority)) == ["send failure badSubscription", "close"])
    }

    @Test("A device whose active set exceeds the current bounds gets everything again instead of a refusal")
    mutating func aSetOfWiderBoundsIsReplaced() {
        let long = Subscription(
            name: nil, className: "Item",
            predicate: .text(
                PropertyPath("name"), .contains, String(repeating: "a", count: Predicate.maximumNeedleByteCount + 1),
                ignoringCase: false))
        let old = SubscriptionSet(version: 1, subscriptions: [long])
        #expect(open(F.hello(active: old)).last?.hasPrefix("read from nothing subscriptions 1") == true)
    }
}
