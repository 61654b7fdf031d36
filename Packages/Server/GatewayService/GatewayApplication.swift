public import Hummingbird
public import HummingbirdCore
public import Logging
public import NIOCore
public import TomboloHTTP

/// The gateway's server: login and health over HTTP, and a WebSocket at ``Gateway/path``.
public struct GatewayApplication: ApplicationProtocol {
    private let http: HTTPApplication
    private let gateway: Gateway

    /// - Parameter http: the HTTP routes served alongside the WebSocket.
    public init(http: HTTPApplication, gateway: Gateway) {
        self.http = http
        self.gateway = gateway
    }

    /// All routes of the router.
    public var routes: [RouteDescription] { http.routes }
    public var responder: RouterResponder<EdgeContext> { http.responder }
    public var configuration: ApplicationConfiguration { http.configuration }
    public var logger: Logger { http.logger }

    public var server: HTTPServerBuilder {
        let gateway = gateway
        let limits = http.limits
        return http.guardedServer { http in
            UpgradableServerChannel(
                http: http, path: Gateway.path, limits: limits, openingByteCount: SessionRunner.openingByteCount
            ) {
                gateway.serve($0, from: $1, logger: $2)
            }
        }
    }

    public func onServerRunning(_ channel: any Channel) async { await http.onServerRunning(channel) }
}
