import AdminService
import HTTPTypes
import Hummingbird
import NIOCore
import TomboloHTTP
import TomboloLocalization

/// Maps of places while they're being entered, for the script of forms. They depend on the request alone.
struct MapPages: PanelSection {
    static let path = "\(AdminPanel.path)/map"

    func add(to panel: PanelRoutes) {
        panel.page(Self.path, access: .own(localized("panel"))) { request, _ in
            guard let tiles = request.core.tiles else {
                throw RequestFailure(
                    .notFound, "There are no maps on this server.", hint: "Set \(MapTiles.variable) to turn them on.")
            }
            func number(_ name: String) -> Double? { request.query(name).flatMap { Double($0) } }
            func point() -> GeographicPoint? {
                guard let latitude = number("latitude"), let longitude = number("longitude") else { return nil }
                return GeographicPoint(latitude: latitude, longitude: longitude)
            }
            let zoom = request.query("zoom").flatMap { Int($0) }
            var picture = MapPicture(of: point(), zoom: zoom, tiles: tiles)
            // The point that was clicked on that map.
            if let x = number("x"), let y = number("y") {
                picture = MapPicture(of: picture.place(x: x, y: y), zoom: picture.grid.zoom, tiles: tiles)
            }
            return .response(
                Response(
                    status: .ok,
                    headers: [
                        .contentType: "text/html; charset=utf-8", .xContentTypeOptions: "nosniff",
                        .cacheControl: "no-store",
                        .contentSecurityPolicy: "default-src 'none'; sandbox; frame-ancestors 'none'",
                    ],
                    body: ResponseBody(byteBuffer: ByteBuffer(string: picture.html().text))))
        }
    }
}
