import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Answers the requests of one server: passes them to its router, and adds what every response has.
package struct RequestResponder: Sendable {
    let router: RouterResponder<EdgeContext>
    let logger: Logger
    private let dates = DateHeader()

    init(router: RouterResponder<EdgeContext>, logger: Logger) {
        self.router = router
        self.logger = logger
    }

    func respond(to request: Request, on channel: any Channel) async -> Response {
        var logger = logger
        logger[metadataKey: EdgeContext.requestIDKey] = .string(RequestID().description)
        let context = EdgeContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
        var response: Response
        do {
            response = try await router.respond(to: request, context: context)
        } catch {
            // The edge turns every error into a response, so this is a fault of its own.
            logger.error("A request was not answered: \(error)")
            response = Response(status: .internalServerError)
        }
        response.headers[.date] = dates.current
        return response
    }
}
