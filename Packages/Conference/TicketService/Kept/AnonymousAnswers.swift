import Batching
import EventModels
import PostgresClient
import Synchronization
import TomboloHTTP
import TomboloModel
import TomboloPostgresStore
import TomboloRules

/// A cache of responses to anonymous visitors: each is rendered once, until something in it changes.
///
/// Each request first asks the database what has been committed since the last time; requests that arrive at about
/// the same time share one query. So a cached response is as fresh as one read from the database: it shows everything
/// that any server committed before the request arrived. If the database can't be asked, the cache isn't used.
final class AnonymousAnswers: Sendable {
    /// The number of requests that can share a query.
    static let bounds = BatchBounds(size: 1_000)

    /// A user without an account or a role.
    static let anyUser = Subject(user: ObjectId())

    private final class Store: Sendable {
        struct State {
            var kept = KeptAnswers()
            /// The fingerprints of the rules that the responses were made under.
            var fingerprints: [UInt64] = []
        }

        let state = Mutex(State())
    }

    private let store: Store
    private let questions: RequestBatcher<Void, Void>

    /// - Throws: `ValueError` if the schema isn't one of the conference's models.
    init(schema: Schema, pool: PostgresPool) throws {
        let store = Store()
        let follower = ChangeFollower(
            pool.configuration, applicationName: "tombolo-ticket-changes", note: try Self.eventOfChange(schema)
        ) { changes in
            store.state.withLock { state in
                guard let changes else { return state.kept.dropAll() }
                let keys = changes.flatMap { [$0.key, $0.note] }.compactMap { $0 }
                state.kept.drop(Set(keys.compactMap { try? ObjectId(string: $0) }))
            }
        }
        self.store = store
        questions = RequestBatcher(
            Self.bounds, overload: RequestFailure.tooManyWaiting, on: { EventLoopTaskExecutor.current }
        ) { questions in
            try await follower.ask()
            return questions.map { _ in .success(()) }
        }
    }

    /// A response about an event, from the cache or made by `render`.
    /// - Parameters:
    ///   - path: the key path at which such responses are cached.
    ///   - rules: the response contains what these rules let anonymous visitors and users without a role read, and
    ///     nothing else.
    func answer<Content: Sendable>(
        _ path: any WritableKeyPath<KeptAnswers.Answers, Content?> & Sendable, of event: ObjectId, under rules: Rules,
        render: () async throws -> Rendered<Content>
    ) async throws -> Content {
        do {
            try await questions.answer(())
        } catch let error as CancellationError {
            throw error
        } catch {
            return try await render().content
        }
        let fingerprints = [rules.fingerprint(of: .anonymous), rules.fingerprint(of: Self.anyUser)]
        let (known, number) = store.state.withLock { state -> (Content?, UInt64) in
            if state.fingerprints != fingerprints {
                state.kept.dropAll()
                state.fingerprints = fingerprints
            }
            if let known = state.kept.answers(of: event)?[keyPath: path] { return (known, 0) }
            return (nil, state.kept.begin(event))
        }
        if let known { return known }
        do {
            let rendered = try await render()
            store.state.withLock {
                $0.kept.end(number, { $0[keyPath: path] = rendered.content }, rows: rendered.rows)
            }
            return rendered.content
        } catch {
            store.state.withLock { $0.kept.end(number, nil, rows: []) }
            throw error
        }
    }

    /// SQL for the event that a changed row now belongs to. The event that it belonged to before is known from the
    /// cached rows.
    private static func eventOfChange(_ schema: Schema) throws -> String {
        let events = try ClassTable<Event>(schema)
        let sessions = try ClassTable<Session>(schema)
        func lookUp<Class: Object>(
            _ table: ClassTable<Class>, _ event: any PartialKeyPath<Class> & Sendable,
            _ id: any PartialKeyPath<Class> & Sendable
        ) -> String {
            "WHEN \(PostgresSQL.quoteLiteral(table.item.name)) THEN (SELECT encode(x.\(table[event]), 'hex') "
                + "FROM \(table) AS x WHERE x.\(table[id]) = decode(l.key, 'hex'))"
        }
        let cases = [
            "WHEN \(PostgresSQL.quoteLiteral(events.item.name)) THEN l.key",
            lookUp(try ClassTable<Ticket>(schema), \.event, \._id), lookUp(sessions, \.event, \._id),
            lookUp(try ClassTable<Microlocation>(schema), \.event, \._id),
            lookUp(try ClassTable<Track>(schema), \.event, \._id),
            lookUp(try ClassTable<Speaker>(schema), \.event, \._id),
            "WHEN \(PostgresSQL.quoteLiteral("\(sessions.item.name).speakers")) THEN (SELECT encode("
                + "x.\(sessions[\.event]), 'hex') FROM \(sessions) AS x WHERE x.\(sessions[\._id]) = decode(l.root, 'hex'))",
        ]
        return "CASE c.name \(cases.joined(separator: " ")) END"
    }
}
