import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import TomboloHTTP
import TomboloLocalization

/// The panel's style sheet, script and icon. Their file names change with their content, so that browsers can cache
/// them for a year and never use outdated ones.
struct PanelAssets: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case style = "panel.css"
        case script = "panel.js"
        case icon = "icon.svg"

        var contentType: String {
            switch self {
            case .style: "text/css; charset=utf-8"
            case .script: "text/javascript; charset=utf-8"
            case .icon: "image/svg+xml"
            }
        }

        var bytes: [UInt8] {
            switch self {
            case .style: PackageResources.panel_css
            case .script: PackageResources.panel_js
            case .icon: PackageResources.icon_svg
            }
        }
    }

    private static let hashByteCount = 8
    private let names: [Kind: String]

    init() {
        names = Dictionary(
            uniqueKeysWithValues: Kind.allCases.map { kind in
                let hash = SHA256.hash(data: kind.bytes).prefix(Self.hashByteCount)
                    .map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
                return (kind, "\(hash)-\(kind.rawValue)")
            })
    }

    func path(of kind: Kind) -> String { "\(AdminPanel.path)/assets/\(names[kind] ?? "")" }

    /// - Throws: ``RequestFailure`` with status 404 for an unknown name.
    func response(named name: String) throws -> Response {
        guard let kind = Kind.allCases.first(where: { names[$0] == name }) else {
            throw RequestFailure(.notFound, "There is no such file.")
        }
        return Response(
            status: .ok,
            headers: [
                .contentType: kind.contentType, .cacheControl: "public, max-age=31536000, immutable",
                .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: kind.bytes)))
    }
}
