/*
 * A plug-in of Oclgrind that writes every access of work-items to global memory, in order, to the file that
 * LIFT_ACCESSES names: "L" or "S", the address, which holds the buffer in its upper bits, and the width. Oclgrind's
 * interface is C++.
 */
#include <cstdio>
#include <cstdlib>

#include <oclgrind/common.h>

#include <oclgrind/Context.h>
#include <oclgrind/Memory.h>
#include <oclgrind/Plugin.h>

namespace
{
class Accesses : public oclgrind::Plugin
{
  public:
    Accesses(const oclgrind::Context *context, std::FILE *to)
        : Plugin(context)
        , out(to)
    {
    }

    ~Accesses() override
    {
        std::fclose(out);
    }

    void memoryLoad(const oclgrind::Memory *memory, const oclgrind::WorkItem *, size_t address, size_t size) override
    {
        put('L', memory, address, size);
    }

    void memoryStore(const oclgrind::Memory *memory, const oclgrind::WorkItem *, size_t address, size_t size,
                     const uint8_t *) override
    {
        put('S', memory, address, size);
    }

    bool isThreadSafe() const override
    {
        return false;
    }

  private:
    std::FILE *out;

    void put(char what, const oclgrind::Memory *memory, size_t address, size_t size)
    {
        if (memory->getAddressSpace() == oclgrind::AddrSpaceGlobal)
            std::fprintf(out, "%c %zu %zu\n", what, address, size);
    }
};

Accesses *accesses;
} // namespace

extern "C" void initializePlugins(oclgrind::Context *context)
{
    const char *path = std::getenv("LIFT_ACCESSES");
    std::FILE *out = path ? std::fopen(path, "w") : nullptr;

    if (!out)
        return;
    accesses = new Accesses(context, out);
    context->registerPlugin(accesses);
}

extern "C" void releasePlugins(oclgrind::Context *context)
{
    if (!accesses)
        return;
    context->unregisterPlugin(accesses);
    delete accesses;
}
