// A model's weights brought to a device.
#pragma once

#include "compute/device.h"
#include "model/model.h"

namespace looseleaf {

// Errors: those of Device::load.
Status load_weights(const Model& model, Device& device);

}  // namespace looseleaf
