import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules
import TomboloLocalization

/// Server-sent event streams for open pages. They send `changed` when the page would now show something else, `ended`
/// when the session has ended, and `renewed` when the session continues with a new cookie, which invalidates the page's
/// forms. A stream carries no data: the page reloads itself, subject to the rules.
struct LivePages: PanelSection {
    static let path = "\(AdminPanel.path)/events"
    /// The minimum interval between two checks of a stream.
    static let interval = Duration.seconds(1)
    /// How often a stream sends a heartbeat; must be less than the idle timeout of connections.
    static let heartbeat = Duration.seconds(15)
    /// How long a stream lasts before the browser has to open another.
    static let lifetime = Duration.seconds(30 * 60)

    /// The state that the page showed when it was rendered, so that no change before the stream's start is missed.
    static let seenField = "seen"

    /// The address of a list's stream, with the list's parameters.
    static func path(of type: ResourceType, _ parameters: RequestParameters, seen: String) -> String {
        "\(path)/\(type.name)?\(parameters.query(replacing: [(seenField, seen)]))"
    }

    /// The address of a record's stream.
    static func path(of type: ResourceType, id: String, seen: String) -> String {
        "\(path)/\(type.name)/\(RequestParameters.encode(id))?\(seenField)=\(seen)"
    }

    func add(to panel: PanelRoutes) {
        let reading = ClassPages.access(localized("read", context: "may …"), panel.core) { _ in [.read] }
        let (ofList, ofRecord) = ("\(Self.path)/{collection}", "\(Self.path)/{collection}/{id}")
        for path in [ofList, ofRecord] { panel.routes.leaveOutOfRequestLog(path) }
        panel.page(ofList, access: reading) { request, grant in
            let (view, type) = try ClassPages.found(request, grant)
            // The stream refuses what the list's own page would refuse.
            _ = try ListRequest(request, type, view)
            return try Self.stream(request, type) { view in
                guard let type = view.types[type.name] else { return nil }
                let list = try ListRequest(request, type, view)
                let page = try await ResourceReader(view: view).page(
                    type, list.query, narrowing: list.narrowing, request.core.pool)
                return try Self.fingerprint(page.resources + page.included)
            }
        }
        panel.page(ofRecord, access: reading) { request, grant in
            let (_, type) = try ClassPages.found(request, grant)
            return try Self.stream(request, type) { view in
                guard let type = view.types[type.name], let key = type.keyValue(request.parameter("id")) else {
                    return nil
                }
                let found = try await ResourceReader(view: view).single(
                    type, key: key, ResourceQuery(), request.core.pool)
                return try found.flatMap { try PanelResource($0.resource).version }
            }
        }
    }

    /// A fingerprint that changes with anything that the caller sees of the resources.
    static func fingerprint(_ resources: [ResourceReader.Resource]) throws -> String {
        var hash = SHA256()
        for resource in resources {
            var json = JSONBytes(capacity: 1_024)
            try resource.plan.append(resource.row, to: &json)
            hash.update(data: json.bytes)
        }
        return hash.finalize().prefix(12).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    // MARK: Streaming

    /// - Parameter look: returns the state that the page would show now; nil if it would show nothing.
    private static func stream(
        _ request: PanelRequest, _ type: ResourceType,
        _ look: @escaping @Sendable (CallerView) async throws -> String?
    ) throws -> PanelAnswer {
        let (bell, user) = (request.core.bell, request.userID.stringValue)
        guard bell.hasRoom(for: user) else {
            throw RequestFailure(
                .tooManyRequests, "Too many pages are being watched.", hint: "Close some of them.")
        }
        let body = ResponseBody { writer in
            // Listen only once somebody reads the body: a response that is never read must not take up a place.
            if let listening = bell.listen(user: user) {
                await withGracefulShutdownHandler {
                    // An error ends the stream; the browser opens another.
                    try? await follow(request, listening.rings, look, &writer)
                } onGracefulShutdown: {
                    listening.stop()
                }
                listening.stop()
            }
            try await writer.finish(nil)
        }
        return .response(
            Response(
                status: .ok,
                headers: [
                    .contentType: "text/event-stream", .cacheControl: "no-store",
                    // Keeps proxies from buffering events.
                    HTTPField.Name("X-Accel-Buffering")!: "no",
                ], body: body))
    }

    private static func follow(
        _ request: PanelRequest, _ rings: AsyncStream<Void>,
        _ look: @Sendable (CallerView) async throws -> String?, _ writer: inout any ResponseBodyWriter
    ) async throws {
        let clock = ContinuousClock()
        let end = clock.now + lifetime
        var said = clock.now
        var last = request.query(seenField)
        try await writer.write(ByteBuffer(string: "retry: 5000\n\n"))
        for await _ in rings {
            guard clock.now < end, !Task.isCancelled else { return }
            do {
                // Use the current session, roles and rules. This check doesn't count as use of the session.
                let session = try await request.core.authenticator.panelSession(request.visit.token, isUse: false)
                let isOwn = request.subject == request.visit.session.subject
                let now = try await look(try request.core.view(of: isOwn ? session.subject : request.subject))
                if let last, last != now {
                    try await writer.write(ByteBuffer(string: "event: changed\ndata:\n\n"))
                    said = clock.now
                }
                last = now ?? ""
            } catch AuthenticationError.endedSession {
                let goesOn = try await request.core.authenticator.goesOn(request.visit.session)
                try await writer.write(ByteBuffer(string: "event: \(goesOn ? "renewed" : "ended")\ndata:\n\n"))
                return
            } catch is RequestFailure {
                // The class no longer exists, or may no longer be read.
                try await writer.write(ByteBuffer(string: "event: changed\ndata:\n\n"))
                return
            }
            if clock.now - said > heartbeat {
                try await writer.write(ByteBuffer(string: ":\n\n"))
                said = clock.now
            }
            try await Task.sleep(for: interval)
        }
    }
}
