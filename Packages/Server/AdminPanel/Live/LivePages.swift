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

/// Streams of server-sent events for pages that are being looked at: `changed` when the page would show something else
/// by now, `ended` when the session has ended, `renewed` when it goes on with another cookie, for which the page's forms
/// aren't good. A stream carries no data: the page loads itself again, by the rules.
struct LivePages: PanelSection {
    static let path = "\(AdminPanel.path)/events"
    /// The least time between two looks of one stream.
    static let interval = Duration.seconds(1)
    /// How often a stream says that it's alive: less than connections may stay silent.
    static let heartbeat = Duration.seconds(15)
    /// A stream ends after so long, and the browser asks for another.
    static let lifetime = Duration.seconds(30 * 60)

    /// What the page showed when it was made, so that no change between it and its stream is missed.
    static let seenField = "seen"

    /// The stream of a list, with the list's parameters.
    static func path(of type: ResourceType, _ parameters: RequestParameters, seen: String) -> String {
        "\(path)/\(type.name)?\(parameters.query(replacing: [(seenField, seen)]))"
    }

    /// The stream of a record.
    static func path(of type: ResourceType, id: String, seen: String) -> String {
        "\(path)/\(type.name)/\(RequestParameters.encode(id))?\(seenField)=\(seen)"
    }

    func add(to panel: PanelRoutes) {
        let reading = ClassPages.access(localized("read", context: "may …"), panel.core) { _ in [.read] }
        let (ofList, ofRecord) = ("\(Self.path)/{collection}", "\(Self.path)/{collection}/{id}")
        for path in [ofList, ofRecord] { panel.routes.leaveOutOfRequestLog(path) }
        panel.page(ofList, access: reading) { request, grant in
            let (view, type) = try ClassPages.found(request, grant)
            // What the list's own page would refuse is refused here.
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

    /// Changes with anything that the caller sees of some resources.
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

    /// - Parameter look: what the page shows by now; nil if it shows nothing any more.
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
            // Not before somebody reads it: a body that is never asked for mustn't take a place.
            if let listening = bell.listen(user: user) {
                await withGracefulShutdownHandler {
                    // What goes wrong ends the stream; the browser asks for another.
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
                    // For proxies that would keep events to themselves.
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
                // The session, the roles and the rules as they are now. A look is no use of the session.
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
                // The class is gone, or may not be read any more.
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
