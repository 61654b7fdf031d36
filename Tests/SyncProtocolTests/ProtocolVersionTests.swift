import Foundation
import Testing
import TomboloModel
import TomboloSyncProtocol

@Suite("Protocol version")
struct ProtocolVersionTests {
    /// The hash of the .proto files for each version. Never change the line of a released version.
    private static let hashes: [Int: UInt64] = [
        1: 0x41d8_5252_10c6_244f,
        2: 0xe5c3_9224_be66_9c96,
        3: 0xc25d_188d_e11e_b355,
    ]

    @Test("The .proto files match the current version")
    func pinned() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Packages/Core/SyncProtocol/Proto").standardizedFileURL
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".proto") }.sorted()
        #expect(files.count == 6)
        let text = try files.map { "\($0)\n" + (try String(contentsOf: folder.appending(path: $0), encoding: .utf8)) }
        let hash = text.joined().stableHash
        #expect(
            hash == Self.hashes[ProtocolVersion.current],
            """
            The .proto files have changed: their hash is now 0x\(String(hash, radix: 16)). If the bytes of any message \
            differ, raise ProtocolVersion.current, add a line to its history, and add the hash for the new version \
            here; the gateway must go on reading the versions from ProtocolVersion.oldest. If only comments changed, \
            replace the hash of the current version. In both cases run Packages/Core/SyncProtocol/Proto/generate.sh.
            """)
    }
}
