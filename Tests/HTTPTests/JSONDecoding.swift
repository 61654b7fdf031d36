import Foundation
import TomboloHTTP

enum JSONDecoding {
    static func decode(_ text: String) throws -> JSON {
        try JSONDecoder().decode(JSON.self, from: Data(text.utf8))
    }
}
