import Foundation
import Testing

@testable import TomboloHTTP

struct OpenFileLimitTests {
    @Test("A server accepts fewer connections than the process may have open files")
    func connections() {
        let connections = OpenFileLimit.connections
        var limit = rlimit()
        #if os(Linux)
            #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        #else
            #expect(getrlimit(RLIMIT_NOFILE, &limit) == 0)
        #endif
        #expect(connections > 0)
        #expect(rlim_t(connections + OpenFileLimit.reserve) <= limit.rlim_cur)
        #expect(limit.rlim_cur >= min(limit.rlim_max, rlim_t(OpenFileLimit.wanted)))
    }
}
